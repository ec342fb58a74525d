// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/hdltest/rig"
)

// TestRowsRoundTrip: the rows of a word, packed again, are the word, bit for bit, for every type and byte order; and the last row's word is there in
// its own cycle.
func TestRowsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, shape := range []struct{ bytes, row, double int }{{8, 8, 1}, {16, 4, 0}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			t.Parallel()
			subW := 1
			for ; shape.row<<(subW-1) < shape.bytes; subW++ {
			}
			take := rig.New(t, rig.Lib(t, aggregatedata.TakeRow{Bytes: shape.bytes, Row: shape.row, Double: shape.double, F16: true, B16: true,
				SubW: subW}), 1)
			emit := rig.New(t, rig.Lib(t, aggregatedata.EmitWord{Bytes: shape.bytes, Row: shape.row, Double: shape.double, F16: true,
				B16: true}), 1)
			rng := rand.New(rand.NewPCG(1, 1))
			for range 2000 {
				word := make([]byte, shape.bytes)
				for i := range word {
					word[i] = byte(rng.Uint32())
				}
				wide, bf16, big, upper := rng.IntN(2) == 1, rng.IntN(2) == 1, rng.IntN(2) == 1, rng.IntN(2) == 1
				rows := shape.bytes / shape.row
				if wide && shape.double == 0 {
					rows *= 2
				}
				bad := rng.IntN(2*rows + 1) // a row, or none
				take.SetBytes("word", word)
				for sub := range rows {
					take.Set("sub", uint64(sub))
					take.SetBool("wide", wide)
					take.SetBool("big_endian", big)
					take.SetBool("row_wide", wide)
					take.SetBool("row_bf16", bf16)
					require.NoError(t, take.Eval())
					emit.SetBytes("row", take.Bytes("row"))
					emit.Set("row_valid", 1)
					emit.SetBool("row_last", sub == rows-1)
					emit.SetBool("row_upper", upper)
					emit.SetBool("row_wide", wide)
					emit.SetBool("row_bf16", bf16)
					emit.SetBool("row_big_endian", big)
					emit.SetBool("row_bad", sub == bad)
					emit.Settle()
					require.Equal(t, sub == rows-1, emit.Is("word_valid"))
					if sub == rows-1 {
						require.Equal(t, word, emit.Bytes("word"), "wide %t, BF16 %t, big endian %t", wide, bf16, big)
						require.Equal(t, bad < rows, emit.Is("word_bad"))
					}
					emit.Clock()
				}
			}
		})
	}
}
