// SPDX-License-Identifier: Apache-2.0

package arith

// Number is element i of a payload as a number; an INT32's is exact.
func (k Kind) Number(b []byte, i int) float64 {
	if !k.DType.Float() {
		return float64(int32(k.Bits(b, i)))
	}
	return k.DType.format().value(k.Bits(b, i))
}

// Ulp is the distance of the type's numbers around x, which is finite; 1 for INT32.
func (d DType) Ulp(x float64) float64 {
	if !d.Float() {
		return 1
	}
	return d.format().quantum(x)
}

// Overflows tells that x, rounded, is no finite number of the type.
func (d DType) Overflows(x float64) bool {
	if !d.Float() {
		return x < -1<<31 || x >= 1<<31
	}
	f := d.format()
	return f.round(x)&^f.sign() >= f.inf()
}
