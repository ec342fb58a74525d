// SPDX-License-Identifier: Apache-2.0

package verilate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParsePorts(t *testing.T) {
	ports, err := parsePorts(`
    VL_IN8(&clk,0,0);
    VL_OUT16(&a___05Fb,15,4);
    VL_IN64(&__SYM__int,40,0);
    VL_INW(&wide,511,0,16);
`)
	require.NoError(t, err)
	assert.Equal(t, []genPort{
		{"clk", "clk", 1, "INCSIM_IN"}, {"a___05Fb", "a__b", 12, "INCSIM_OUT"},
		{"__SYM__int", "int", 41, "INCSIM_IN"}, {"wide", "wide", 512, "INCSIM_IN"},
	}, ports)
	_, err = parsePorts("    VL_IN8((&arr)[4],7,0);\n")
	assert.ErrorContains(t, err, "a port is an array")
}

func TestCPUIdentity(t *testing.T) {
	one := cpuIdentity([]byte("processor\t: 0\nmodel\t: 85\nflags\t: avx2\ncpu MHz\t: 2000\n\nprocessor\t: 1\nmodel\t: 85\nflags\t: avx2\n"))
	faster := cpuIdentity([]byte("processor\t: 0\nmodel\t: 85\nflags\t: avx2\ncpu MHz\t: 3000\n"))
	other := cpuIdentity([]byte("processor\t: 0\nmodel\t: 85\nflags\t: avx2 avx512f\n"))
	assert.Equal(t, one, faster, "neither the number of processors nor their clock matters")
	assert.NotEqual(t, one, other)
}
