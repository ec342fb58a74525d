// SPDX-License-Identifier: Apache-2.0

package ram_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/ram"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// claim is one copy of the decoder for each place where a bit can be wrong, from FROM on: each must give back the data, whatever
// they are. The place behind the last stands for no error.
const claim = `
module claim #(parameter DATA = 32, parameter CODE = 39, parameter FROM = 0, parameter PLACES = 10) (
    input wire [DATA-1:0] data, output wire [PLACES-1:0] ok
);
    wire [CODE-1:0] code;
    inc_secded_encode_%[1]d u_encode (.data(data), .poison(1'b0), .code(code));
    genvar i;
    generate
        for (i = 0; i < PLACES; i = i + 1) begin : gen_place
            wire [CODE-1:0] flip = {{(CODE-1){1'b0}}, 1'b1} << (FROM + i);
            wire [DATA-1:0] out;
            wire corrected, poison;
            inc_secded_decode_%[1]d u_decode (.code(code ^ flip), .data(out), .corrected(corrected), .poison(poison));
            assign ok[i] = out == data && corrected == (FROM + i < CODE) && !poison;
        end
    endgenerate
endmodule
`

// prove has ABC merge all that is equal in a claim, by simulation and SAT. Every ok is then the constant 1 and no gate is left.
// An SMT solver does not get through: parities of many bits, which SAT sweeping merges prefix by prefix, are its worst case.
func prove(t *testing.T, dir string, data, from, places int) error {
	t.Helper()
	script := fmt.Sprintf("read_verilog %[1]s/claim.v %[1]s/encode.v %[1]s/decode.v\n", dir) +
		fmt.Sprintf("hierarchy -check -top claim -chparam DATA %d -chparam CODE %d -chparam FROM %d -chparam PLACES %d\n", data, data+checks(data), from, places) +
		"proc\ntechmap\nflatten\nabc -script +strash;fraig\nopt_clean\nselect -assert-none t:*\n" +
		fmt.Sprintf("sat -verify -prove ok %d'b%s\n", places, strings.Repeat("1", places))
	ys := filepath.Join(dir, fmt.Sprintf("prove%d.ys", from))
	require.NoError(t, os.WriteFile(ys, []byte(script), 0o644))
	_, err := tool.Run(testcost.Context(t), tool.Command{Name: "yosys", Args: []string{"-q", "-s", ys}})
	return err
}

// TestProofs proves that what was encoded and had at most one bit inverted decodes to itself, for all data and every bit; and
// that the proof finds a wrong column. The widest takes minutes (make long).
func TestProofs(t *testing.T) {
	t.Parallel()
	widths := []int{32, 64}
	if os.Getenv("INCFORGE_LONG") != "" {
		widths = append(widths, 128)
	}
	for _, data := range widths {
		t.Run(fmt.Sprint(data), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			}
			write("claim.v", fmt.Sprintf(claim, data))
			write("encode.v", source(t, ram.Encode{Data: data}))
			decoder := source(t, ram.Decode{Data: data})
			write("decode.v", decoder)
			// In parts, for the memory that it takes.
			all := data + checks(data) + 1
			for from := 0; from < all; from += 35 {
				require.NoError(t, prove(t, dir, data, from, min(35, all-from)), "from bit %d", from)
			}

			column := columns(t, data)
			spoilt := strings.Replace(decoder, fmt.Sprintf("wrong[3] = syndrome == %d'b%0*b;", checks(data), checks(data), column[3]),
				fmt.Sprintf("wrong[3] = syndrome == %d'd0;", checks(data)), 1)
			require.NotEqual(t, decoder, spoilt)
			write("decode.v", spoilt)
			require.NoError(t, prove(t, dir, data, 4, 1), "bit 4 alone is still right")
			require.Error(t, prove(t, dir, data, 3, 1))
			require.Error(t, prove(t, dir, data, all-1, 1), "no error is taken for one")
		})
	}
}
