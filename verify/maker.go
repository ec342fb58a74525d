// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"fmt"

	"incforge/verify/dut"
)

// maker makes an engine; waves is a file for its trace, or empty.
type maker func(seed uint64, waves string) (dut.DUT, error)

// maker prepares what all engines of a run share, the compiled model for instance.
func (r *runner) maker(ctx context.Context) (maker, error) {
	switch r.opt.DUT {
	case KindReference:
		return func(uint64, string) (dut.DUT, error) { return dut.NewReference(r.man) }, nil
	}
	return nil, fmt.Errorf("unknown kind of DUT %q, known are %v", r.opt.DUT, Kinds())
}
