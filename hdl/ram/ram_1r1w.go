// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"bytes"
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// RAM is inc_ram_1r1w: memory with one write and one read port. Its contract is the head of inc_ram_1r1w.v.
type RAM struct {
	// Words: number of words, at least 2.
	Words int
	// Bits: bits of a word, at least 1.
	Bits int
	// AddrW: bits of an address; 2**ADDR_W >= WORDS.
	AddrW int
	// Style: how the array is built: 0 as the tool chooses, but tables of up to 64 words from distributed RAM; 1 block RAM;
	// 2 registers. Instances leave it at the module's default, which Default sets.
	Style int
	// Apart is 1 where no address is read in the cycle in which it is written.
	Apart int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p RAM) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ram_1r1w")
	rules.Refuse(p.Apart < 0 || p.Apart > 1, "APART must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	m, err := ramModule("inc_ram_1r1w", p.Words, p.Bits, p.AddrW, p.Style)
	if err == nil {
		m.Params = append(m.Params, graph.Param{Name: "APART", Value: p.Apart})
	}
	return m, err
}

// OnePort is inc_ram_1rw: memory with one port that reads or writes. Its contract is the head of inc_ram_1rw.v.
type OnePort struct {
	// Words: number of words, at least 2.
	Words int
	// Bits: bits of a word, at least 1.
	Bits int
	// AddrW: bits of an address; 2**ADDR_W >= WORDS.
	AddrW int
	// Style as in RAM.
	Style int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p OnePort) Module() (*graph.Module, error) {
	return ramModule("inc_ram_1rw", p.Words, p.Bits, p.AddrW, p.Style)
}

// TwoClocks is inc_ram_2c: memory with one write and one read port, each on a clock of its own. Its contract is the head of inc_ram_2c.v.
type TwoClocks struct {
	// Words: number of words, at least 2.
	Words int
	// Bits: bits of a word, at least 1.
	Bits int
	// AddrW: bits of an address; 2**ADDR_W >= WORDS.
	AddrW int
	// Style as in RAM.
	Style int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p TwoClocks) Module() (*graph.Module, error) {
	return ramModule("inc_ram_2c", p.Words, p.Bits, p.AddrW, p.Style)
}

// ramModule describes the memory of that name.
func ramModule(name string, words, bits, addrW, style int) (*graph.Module, error) {
	rules := leaf.NewRules(name)
	rules.Refuse(words < 2, "WORDS must be at least 2")
	rules.Refuse(bits < 1, "BITS must be at least 1")
	rules.Refuse(addrW < 1 || addrW > 30 || leaf.Pow2(addrW) < words, "2**ADDR_W must be at least WORDS")
	rules.Refuse(style < 0 || style > 2, "STYLE must be 0, 1 or 2")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: name, Block: "", Source: source, Latency: "1 cycle",
		Params: []graph.Param{
			{Name: "WORDS", Value: words},
			{Name: "BITS", Value: bits},
			{Name: "ADDR_W", Value: addrW},
			{Name: "STYLE", Value: style},
		},
	}
	switch name {
	case "inc_ram_1rw":
		m.Purpose = "memory with one port that reads or writes"
		m.Ports = []graph.Port{
			leaf.In("clk", 1),
			leaf.In("en", 1),
			leaf.In("we", 1),
			leaf.In("addr", addrW),
			leaf.In("wdata", bits),
			leaf.Out("rdata", bits),
		}
	case "inc_ram_2c":
		m.Purpose = "memory with a write port on one clock and a read port on another"
		m.Ports = []graph.Port{
			leaf.In("wclk", 1),
			leaf.On("wclk", leaf.In("we", 1)),
			leaf.On("wclk", leaf.In("waddr", addrW)),
			leaf.On("wclk", leaf.In("wdata", bits)),
			leaf.In("rclk", 1),
			leaf.On("rclk", leaf.In("re", 1)),
			leaf.On("rclk", leaf.In("raddr", addrW)),
			leaf.On("rclk", leaf.Out("rdata", bits)),
		}
	default:
		m.Purpose = "memory with one write and one read port"
		m.Ports = []graph.Port{
			leaf.In("clk", 1),
			leaf.In("we", 1),
			leaf.In("waddr", addrW),
			leaf.In("wdata", bits),
			leaf.In("re", 1),
			leaf.In("raddr", addrW),
			leaf.Out("rdata", bits),
		}
	}
	m.Memories = []graph.Memory{{Words: words, Bits: bits, Role: "memory", OnePort: name == "inc_ram_1rw"}}
	return m, nil
}

// Styled are the modules whose parameter STYLE a whole design sets at once, with Default.
func Styled() []string {
	return []string{"inc_ram_1r1w", "inc_ram_1rw", "inc_ram_2c", "inc_payload_memory"}
}

// Default returns the source of one of Styled with another default of STYLE.
func Default(source []byte, style int) ([]byte, error) {
	const line = "parameter STYLE  = 0"
	if bytes.Count(source, []byte(line)) != 1 {
		return nil, fmt.Errorf("a memory's source does not hold %q once", line)
	}
	return bytes.Replace(source, []byte(line), fmt.Appendf(nil, "parameter STYLE  = %d", style), 1), nil
}
