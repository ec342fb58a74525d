// SPDX-License-Identifier: Apache-2.0

package place

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Entry is a colour of the picture.
type Entry struct {
	Block  string `json:"block"`
	Colour string `json:"colour"` // #rrggbb
	Cells  int    `json:"cells"`
}

// placed is a cell in a tile.
type placed struct {
	name string
	x, y int
}

var bel = regexp.MustCompile(`^X(\d+)/?Y(\d+)/`)

// readPlacement reads where the cells lie from the design that nextpnr writes.
func readPlacement(file, top string) ([]placed, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("placement: %w", err)
	}
	var d struct {
		Modules map[string]struct {
			Cells map[string]struct {
				Attributes map[string]any `json:"attributes"`
			} `json:"cells"`
		} `json:"modules"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("placement: %w", err)
	}
	m, ok := d.Modules[top]
	if !ok && len(d.Modules) == 1 { // nextpnr calls it "top" if it does not know better
		for _, m = range d.Modules {
			ok = true
		}
	}
	if !ok {
		return nil, fmt.Errorf("placement: no module %s", top)
	}
	var all []placed
	for name, c := range m.Cells {
		where, _ := c.Attributes["NEXTPNR_BEL"].(string)
		at := bel.FindStringSubmatch(where)
		if at == nil {
			continue
		}
		x, errX := strconv.Atoi(at[1])
		y, errY := strconv.Atoi(at[2])
		if errX != nil || errY != nil {
			continue
		}
		all = append(all, placed{name, x, y})
	}
	slices.SortFunc(all, func(a, b placed) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// tile is the side of a tile of the device in the picture.
const tile = 6

// palette holds colours that are told apart; the last is for all other blocks.
func palette() []color.RGBA {
	return []color.RGBA{{0x1f, 0x6f, 0xeb, 255}, {0x2d, 0xa4, 0x4e, 255}, {0xbf, 0x87, 0x00, 255}, {0xbf, 0x39, 0x89, 255}, {0x82, 0x50, 0xdf, 255},
		{0x1b, 0x7c, 0x83, 255}, {0xbc, 0x4c, 0x00, 255}, {0x6e, 0x77, 0x81, 255}, {0x7f, 0xc9, 0x7f, 255}, {0x9e, 0xca, 0xe1, 255}, {0xfd, 0xc0, 0x86, 255},
		{0xb0, 0xb8, 0xc1, 255}}
}

// paint fills each tile in the colour of the block that has most cells there, and the critical path over it, in red.
func paint(cells []placed, block func(string) string, route [][2]int) ([]byte, []Entry, error) {
	type at struct{ x, y int }
	tiles, total := map[at]map[string]int{}, map[string]int{}
	right, bottom := 0, 0
	for _, c := range cells {
		outer, _, _ := strings.Cut(block(c.name), "/")
		k := at{c.x, c.y}
		if tiles[k] == nil {
			tiles[k] = map[string]int{}
		}
		tiles[k][outer]++
		total[outer]++
		right, bottom = max(right, c.x), max(bottom, c.y)
	}
	legend, colours := legendOf(total)
	img := image.NewRGBA(image.Rect(0, 0, (right+1)*tile, (bottom+1)*tile))
	fill := func(r image.Rectangle, c color.Color) {
		draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
	fill(img.Bounds(), color.White)
	for k, blocks := range tiles {
		fill(image.Rect(k.x*tile, k.y*tile, (k.x+1)*tile-1, (k.y+1)*tile-1), colours(most(blocks)))
	}
	red := color.RGBA{0xcf, 0x22, 0x2e, 255}
	for i := 1; i < len(route); i++ {
		line(route[i-1], route[i], func(x, y int) { fill(image.Rect(x-1, y-1, x+1, y+1), red) })
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, nil, fmt.Errorf("placement: %w", err)
	}
	return out.Bytes(), legend, nil
}

// most is the block with most cells, the first by name of several.
func most(blocks map[string]int) string {
	best, n := "", 0
	for b, k := range blocks {
		if k > n || k == n && b < best {
			best, n = b, k
		}
	}
	return best
}

// legendOf gives the largest blocks a colour each and the others one together.
func legendOf(total map[string]int) ([]Entry, func(block string) color.Color) {
	var all []Entry
	for b, n := range total {
		all = append(all, Entry{Block: b, Cells: n})
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(cmp.Compare(b.Cells, a.Cells), strings.Compare(a.Block, b.Block)) })
	colours := palette()
	rest := Entry{Block: "others", Colour: hex(colours[len(colours)-1])}
	of := map[string]color.Color{}
	var legend []Entry
	for i, e := range all {
		if i < len(colours)-1 {
			of[e.Block], e.Colour = colours[i], hex(colours[i])
			if e.Block == "" {
				e.Block = "the top's own"
			}
			legend = append(legend, e)
			continue
		}
		rest.Cells += e.Cells
	}
	if rest.Cells > 0 {
		legend = append(legend, rest)
	}
	return legend, func(b string) color.Color {
		if c, ok := of[b]; ok {
			return c
		}
		return colours[len(colours)-1]
	}
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// line visits the points between the middles of two tiles.
func line(from, to [2]int, visit func(x, y int)) {
	x0, y0, x1, y1 := from[0]*tile+tile/2, from[1]*tile+tile/2, to[0]*tile+tile/2, to[1]*tile+tile/2
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		visit(x0+(x1-x0)*i/steps, y0+(y1-y0)*i/steps)
	}
}

func abs(x int) int { return max(x, -x) }
