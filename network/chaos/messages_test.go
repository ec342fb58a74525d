// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/jobs"
)

// messageSeeds is how many cases TestMessageCampaign draws; 10,000 take some six minutes of two processors.
var messageSeeds = flag.Uint64("message-seeds", 40, "cases of the Mode I campaign on the reference")

// TestMessageCampaign: cases in Mode I, with path MTUs, first PSNs and habits that differ from rank to rank.
func TestMessageCampaign(t *testing.T) {
	s, err := standard(t, 1).Campaign(context.Background(), Campaign{From: 1, To: *messageSeeds, Place: jobs.Place{Jobs: 2}})
	require.NoError(t, err)
	for _, f := range s.Failures {
		t.Errorf("seed %d: %s: %s", f.Seed, f.Kind, f.Message)
	}
	assert.EqualValues(t, *messageSeeds, s.Cases)
	assertHarm(t, s, 100)
	t.Logf("%d cases, %d calls, %d packets, %d lost, %d resets, %d cycles, %.0f s", s.Cases, s.Calls, s.Packets, s.Lost, s.Resets, s.Cycles, s.WallSeconds)
}
