// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"os"
	"path"
	"strings"

	"incforge/configs"
)

// Presets returns the names of the presets, sorted.
func Presets() ([]string, error) {
	entries, err := configs.FS.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list the presets: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names, nil
}

// PresetSource returns a preset's parameter file as it was written, with its comments.
func PresetSource(name string) ([]byte, error) {
	names, err := Presets()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if n == name {
			return configs.FS.ReadFile(n + ".yaml")
		}
	}
	msg := fmt.Sprintf("no preset %q; there are %s", name, strings.Join(names, ", "))
	if hint := nearest(name, names); hint != "" {
		msg += fmt.Sprintf("; did you mean %q?", hint)
	}
	return nil, fmt.Errorf("find the parameters: %s", msg)
}

// Preset returns the named preset with the overrides applied as Parse does.
func Preset(name string, sets ...string) (Params, error) {
	text, err := PresetSource(name)
	if err != nil {
		return Params{}, err
	}
	return Parse(name+".yaml", text, sets...)
}

// Load returns the parameters that config names, a preset or a YAML file, with the overrides applied as Parse does. An argument
// that ends in .yaml or .yml or has a slash in it is a file, any other a preset.
func Load(config string, sets ...string) (Params, error) {
	if ext := path.Ext(config); ext != ".yaml" && ext != ".yml" && !strings.ContainsAny(config, `/\`) {
		return Preset(config, sets...)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return Params{}, fmt.Errorf("read the parameters: %w", err)
	}
	return Parse(config, text, sets...)
}
