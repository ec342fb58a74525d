// SPDX-License-Identifier: Apache-2.0

// Package managerpb is manager.proto in Go: messages, and the service's two ends. `make proto` makes it anew.
package managerpb

import "time"

// MostWait bounds how long a group may ask for its turn.
const MostWait = time.Minute
