// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"bytes"
	"encoding/binary"
)

// Records of GDSII, with the type of their data in the low byte.
const (
	gdsHeader       = 0x0002
	gdsBeginLibrary = 0x0102
	gdsLibraryName  = 0x0206
	gdsUnits        = 0x0305
	gdsEndLibrary   = 0x0400
	gdsBeginCell    = 0x0502
	gdsCellName     = 0x0606
	gdsEndCell      = 0x0700
	gdsBoundary     = 0x0800
	gdsLayer        = 0x0d02
	gdsDataType     = 0x0e02
	gdsPoints       = 0x1003
	gdsEndElement   = 0x1100
)

// gds returns a cell with nothing but the macro's outline, because LibreLane takes no macro without such a file.
func (m macro) gds(p Platform) []byte {
	var b bytes.Buffer
	record := func(kind uint16, data []byte) {
		if len(data)%2 == 1 {
			data = append(data, 0)
		}
		b.Write(binary.BigEndian.AppendUint16(nil, uint16(4+len(data))))
		b.Write(binary.BigEndian.AppendUint16(nil, kind))
		b.Write(data)
	}
	words := func(v ...int) []byte {
		var out []byte
		for _, x := range v {
			out = binary.BigEndian.AppendUint16(out, uint16(x))
		}
		return out
	}
	// Twice 1970-01-01, so that the bytes are the same every day.
	never := words(1970, 1, 1, 0, 0, 0, 1970, 1, 1, 0, 0, 0)
	record(gdsHeader, words(600))
	record(gdsBeginLibrary, never)
	record(gdsLibraryName, []byte("incforge"))
	// The file counts in nm: 0.001 um and 1e-9 m, in GDSII's floats of base 16.
	record(gdsUnits, []byte{0x3e, 0x41, 0x89, 0x37, 0x4b, 0xc6, 0xa7, 0xf0, 0x39, 0x44, 0xb8, 0x2f, 0xa0, 0x9b, 0x5a, 0x54})
	record(gdsBeginCell, never)
	record(gdsCellName, []byte(m.Name()))
	record(gdsBoundary, nil)
	record(gdsLayer, words(p.outline[0]))
	record(gdsDataType, words(p.outline[1]))
	var corners []byte
	for _, c := range [][2]int{{0, 0}, {m.width, 0}, {m.width, m.height}, {0, m.height}, {0, 0}} {
		corners = binary.BigEndian.AppendUint32(corners, uint32(c[0]))
		corners = binary.BigEndian.AppendUint32(corners, uint32(c[1]))
	}
	record(gdsPoints, corners)
	record(gdsEndElement, nil)
	record(gdsEndCell, nil)
	record(gdsEndLibrary, nil)
	return b.Bytes()
}
