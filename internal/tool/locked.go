// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"io"
	"sync"
)

// lockedWriter lets the two copying goroutines of a command (stdout and stderr)
// share one writer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
