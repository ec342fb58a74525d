// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/commlib"
	"incforge/live"
)

// A member whose host is not up is waited for, if that is wanted; else the group is refused.
func TestWait(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	leaf := c.switches["leaf1"]
	h3 := func(down bool) error {
		_, err := leaf.control.SetPort(ctx, "leaf1", leaf.ports["h3"], down)
		return err
	}
	require.NoError(t, h3(true))
	members := []string{"h2", "h3"}
	require.Eventually(t, func() bool { // when the manager has heard of it
		all, err := c.init(ctx, "g", members, nil)
		if err != nil {
			return true
		}
		assert.NoError(t, everybody(2, func(rank int) error { return all[rank].Destroy(ctx) }))
		return false
	}, 10*time.Second, 50*time.Millisecond)
	_, err := c.init(ctx, "g", members, func(cfg *commlib.Config) { cfg.Wait = 300 * time.Millisecond })
	require.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	assert.ErrorContains(t, err, "the link leaf1–h3 is down")

	up := make(chan error, 1)
	time.AfterFunc(300*time.Millisecond, func() { up <- h3(false) })
	all, err := c.init(ctx, "g", members, func(cfg *commlib.Config) { cfg.Wait = 20 * time.Second })
	require.NoError(t, err)
	require.NoError(t, <-up)
	require.NoError(t, everybody(2, func(rank int) error { return all[rank].Destroy(ctx) }))
}
