// SPDX-License-Identifier: Apache-2.0

// Package configs embeds the parameter files of this folder: the presets that incforge knows by name. It holds data and no code.
package configs

import "embed"

// FS holds one file a preset, NAME.yaml.
//
//go:embed *.yaml
var FS embed.FS
