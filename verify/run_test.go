// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/verify/internal/synthetic"
	"incforge/verify/result"
)

func TestReferencePassesEveryScenario(t *testing.T) {
	for name, p := range map[string]synthetic.Params{"mini": synthetic.Mini(), "full": synthetic.Full(), "reproducible": synthetic.Reproducible()} {
		for _, s := range Scenarios() {
			t.Run(name+"/"+s.Name, func(t *testing.T) {
				t.Parallel()
				rep, err := Run(context.Background(), Options{Manifest: synthetic.Manifest(p), DUT: KindReference, Scenario: s.Name, Seed: 1})
				for _, r := range rep.Tests {
					require.NotEqual(t, result.Fail, r.Verdict, "%s", r.Message)
				}
				if rep.Passed() > 0 {
					require.NoError(t, err)
				}
			})
		}
	}
}
