// SPDX-License-Identifier: Apache-2.0

// Package testlog is the output of a command or a server that a test reads while it is being written.
package testlog

import (
	"bytes"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Log collects what is written to it. Its zero value is empty and ready; writers and readers may be different goroutines.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds b. It never fails.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is all that has been written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Await waits until the regular expression pattern matches the text, and returns the match and its groups. The test ends with the text
// if that takes longer than patience.
func (l *Log) Await(t *testing.T, pattern string, patience time.Duration) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	require.Eventually(t, func() bool {
		found = re.FindStringSubmatch(l.String())
		return found != nil
	}, patience, 5*time.Millisecond, "%s\nis not in\n%s", pattern, l)
	return found
}
