// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ranks that write their files while the lab does not run are answered, however old the files are when it does.
func TestJoinLate(t *testing.T) {
	j := &joiner{g: &Group{Hosts: []int{0, 1}}, dir: t.TempDir()}
	for rank := range j.g.Hosts {
		require.NoError(t, os.WriteFile(j.file(rank, readyFile), []byte("\n"), 0o644))
	}
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(j.dir, old, old))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); j.watch(ctx) }()
	defer func() { cancel(); <-done }()
	for rank := range j.g.Hosts {
		assert.Eventually(t, func() bool {
			_, err := os.Stat(j.file(rank, runFile))
			return err == nil
		}, 10*time.Second, joinPeriod)
	}
}
