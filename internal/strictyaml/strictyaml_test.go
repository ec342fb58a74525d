// SPDX-License-Identifier: Apache-2.0

package strictyaml_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
	"incforge/roce"
)

type file struct {
	Flag  strictyaml.Value[bool]
	Count strictyaml.Value[int]
	Part  strictyaml.Value[float64]
	Word  strictyaml.Value[string] `yaml:"the_word"`
	List  strictyaml.Value[[]int]
	IP    strictyaml.Value[roce.IP4]
	Below []below
}

type below struct{ MAC strictyaml.Value[roce.MAC] }

func TestRead(t *testing.T) {
	var f file
	m := strictyaml.Mistakes{File: "f"}
	formed := m.Read([]byte("# so\nflag: true\ncount: 0x10\npart: 0.25\nthe_word: a b\nlist: [1, 2]\nip: 10.0.0.1\nbelow:\n  - mac: 52:54:00:00:00:01\n  - {}\n"), &f)
	require.True(t, formed)
	require.NoError(t, m.Err())
	assert.True(t, f.Flag.V)
	assert.Equal(t, strictyaml.Value[int]{V: 16, Given: true, Pos: yamlpos.Pos{Line: 3, Column: 8}}, f.Count)
	assert.InDelta(t, 0.25, f.Part.V, 0)
	assert.Equal(t, "a b", f.Word.Or("c"))
	assert.Equal(t, []int{1, 2}, f.List.V)
	assert.Equal(t, roce.IP4{10, 0, 0, 1}, f.IP.V)
	require.Len(t, f.Below, 2)
	assert.Equal(t, roce.MAC{0x52, 0x54, 0, 0, 0, 1}, f.Below[0].MAC.V)
	assert.Equal(t, roce.MAC{1}, f.Below[1].MAC.Or(roce.MAC{1}))
}

// Everything is said, in the order of the file.
func TestAllMistakes(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		formed           bool
	}{
		{"empty", "", "f: the file is empty", false},
		{"comments alone", "# nothing\n", "f: the file is empty", false},
		{"null", "~\n", "f: the file is empty", false},
		{"no mapping", "[1]\n", "f:1:1: [1] is not a mapping", false},
		{"two documents", "flag: true\n---\nflag: false\n", "f:3:5: a second document", false},
		{"scalars", "flag: 1\ncount: \"1\"\npart: x\nthe_word: 3\nlist: [0, x, -1]\nip: 10.0.0\nbelow: [{mac: 5}]\nflog: 1\nflag: true\n", `f:1:7: 1 is not true or false
f:2:8: "1" is not an integer
f:3:7: x is not a number
f:4:11: 3 is not a word
f:5:11: x is not an integer
f:5:14: -1 is not an integer that is not negative
f:6:5: IPv4 address: ParseAddr("10.0.0"): IPv4 address too short
f:7:15: 5 is not a word
f:8:1: unknown key "flog", known are flag, count, part, the_word, list, ip, below
f:9:1: flag is given twice`, true},
		{"numbers", "count: 4294967296\npart: 4294967296\nlist: 0\n",
			"f:1:8: 4294967296 is not an integer of at most 32 bits\nf:2:7: 4294967296 is not an integer of at most 32 bits\nf:3:7: 0 is not a list of integers", true},
		{"nothing", "count:\nbelow:\n", "f:1:7: nothing is not an integer\nf:2:8: nothing is not a list", false},
		{"a list of scalars", "below: [1, 2]\n", "f:1:9: 1 is not a mapping\nf:1:12: 2 is not a mapping", false},
		{"anchors", "count: &a 1\nlist: *a\n", "f:1:8: &a 1 is not an integer\nf:2:7: *a is not a list of integers", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := strictyaml.Mistakes{File: "f"}
			assert.Equal(t, c.formed, m.Read([]byte(c.text), &file{}))
			require.Error(t, m.Err())
			assert.Equal(t, c.want, m.Err().Error())
		})
	}
	m := strictyaml.Mistakes{File: "f"}
	assert.False(t, m.Read([]byte("flag: [\n"), &file{}))
	require.ErrorContains(t, m.Err(), "f:1:7: ")
}

func FuzzRead(f *testing.F) {
	f.Add("flag: true\nbelow:\n  - mac: 52:54:00:00:00:01\n")
	f.Add("arp: &a true\ngap_nak: *a\n<<: {}\nbelow: [{mac: [0, ~]}, ~]\n? x\n: y\n")
	f.Fuzz(func(t *testing.T, text string) {
		m := strictyaml.Mistakes{File: "f"}
		if !m.Read([]byte(text), &file{}) {
			require.ErrorContains(t, m.Err(), "f")
		}
	})
}
