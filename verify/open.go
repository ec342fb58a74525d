// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"

	"incforge/contract"
	"incforge/verify/dut"
)

// Open prepares engines outside of Run: the design's manifest and a function that makes one more engine of the kind and folder that
// opt names, as after reset; seed is of its random initial state. Engines are closed by who made them.
func Open(ctx context.Context, opt Options) (*contract.Manifest, func(seed uint64) (dut.DUT, error), error) {
	r := &runner{opt: opt, man: opt.Manifest}
	if r.opt.DUT == "" {
		r.opt.DUT = KindRTL
	}
	if r.man == nil {
		m, err := contract.Load(opt.ManifestDir)
		if err != nil {
			return nil, nil, err
		}
		r.man = m
	}
	mk, err := r.maker(ctx)
	if err != nil {
		return nil, nil, err
	}
	return r.man, func(seed uint64) (dut.DUT, error) { return mk(seed, "") }, nil
}
