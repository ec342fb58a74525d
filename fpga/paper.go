// SPDX-License-Identifier: Apache-2.0

package fpga

import (
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
)

// Published is a row of the paper's FPGA table (EPIC, SIGCOMM '26). What is 0 the paper does not give.
type Published struct {
	Name   string  `json:"name"`
	LUT    float64 `json:"lut"`
	LUTRAM float64 `json:"lutram"`
	FF     float64 `json:"ff"`
	BRAM36 float64 `json:"bram36"`
	DSP    float64 `json:"dsp,omitempty"`
	// Lanes is what is known of them: the paper does not state it.
	Lanes string `json:"lanes"`
	// Unit is what LUT counts, if not LUTs of six inputs.
	Unit string `json:"unit,omitempty"`
}

// Paper lists the paper's rows: they stand beside any row of ours, with their device and lanes.
func Paper() []Published {
	return []Published{
		{Name: "VU13P, FP32, 1 MB", LUT: 987308, LUTRAM: 638924, FF: 343724, BRAM36: 235, Lanes: "probably 256"},
		{Name: "VU13P, INT32, 1 MB", LUT: 867479, LUTRAM: 637900, FF: 169382, BRAM36: 235, Lanes: "unstated"},
		{Name: "Agilex, FP32, 8 MB", LUT: 287376, DSP: 256, Lanes: "unstated", Unit: "ALM"},
	}
}

// paperBits is what the paper's 100 Gb/s are in bits a cycle at its 250 MHz.
const paperBits = 100_000 / 250

// published returns the paper's row for the same data type, buffer and rate, or
// why there is none (EPIC, SIGCOMM '26, FPGA resource table: VU13P at 250 MHz
// and 100 Gb/s).
func published(family Family, p contract.Params) (*Published, []string) {
	var why []string
	differ := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if family != XCUP {
		differ("family %s, the paper's is UltraScale+", family)
	}
	if p.Mode != 2 {
		differ("mode %d, the paper's engine is Mode II", p.Mode)
	}
	if p.BufferBytes != 1<<20 {
		differ("%d KiB of payload, the paper's rows have 1 MB", p.BufferBytes>>10)
	}
	if bits := 8 * p.BusBytes; bits < paperBits {
		differ("%d bits a cycle, the paper's rate takes %d at its clock", bits, paperBits)
	}
	rows := Paper()
	row := &rows[1]
	switch {
	case slices.Contains(p.DTypes, "FP32"):
		row = &rows[0]
	case !slices.Contains(p.DTypes, "INT32"):
		differ("types %s, the paper's rows are FP32 and INT32", strings.Join(p.DTypes, ", "))
	}
	if len(why) > 0 {
		return nil, why
	}
	return row, nil
}
