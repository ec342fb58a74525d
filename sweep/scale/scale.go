// SPDX-License-Identifier: Apache-2.0

// Package scale predicts a quantity of a design from the few designs on which it was measured: a sum of at most three positive terms in
// their parameters. The terms are chosen by how well each measured design is predicted from the others.
package scale

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
)

// Features are what a quantity may depend on, by name.
type Features map[string]float64

// Sample is a measured design.
type Sample struct {
	X Features
	Y float64 // above 0
}

// ErrNothing means that there is no sample.
var ErrNothing = errors.New("nothing was measured")

const (
	maxTerms = 3
	// Further terms must make the error this much smaller: with a dozen samples and hundreds of candidates some always fit a little better.
	worthIt = 0.8
	// A term in two parameters is taken only if it is that much better than one in a single parameter.
	product = 0.95
	// enough is an error at which nothing is looked for any more.
	enough = 0.003
)

// Law is what was found.
type Law struct {
	terms []term
	coeff []float64
	known []Sample
	// Error is the relative error, the root of the mean square, of predicting each sample from the others; infinite if there is only one.
	Error float64
}

// term is a product of simple functions of parameters; none is a constant.
type term []factor

// factor is a function of a parameter.
type factor struct {
	name  string
	shape shape
	at    float64 // of is and isnot
}

type shape uint8

const (
	linear shape = iota
	logarithm
	loglinear
	is    // 1 where the parameter has a value
	isnot // 1 where it has not
)

func (f factor) of(x Features) float64 {
	v := x[f.name]
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	switch f.shape {
	case logarithm:
		return math.Log2(1 + max(v, 0))
	case loglinear:
		return v * math.Log2(1+max(v, 0))
	case is:
		return truth(v == f.at)
	case isnot:
		return truth(v != f.at)
	default:
		return v
	}
}

func (t term) of(x Features) float64 {
	p := 1.0
	for _, f := range t {
		p *= f.of(x)
	}
	return p
}

// Find finds the law of the samples.
func Find(samples []Sample) (*Law, error) {
	if len(samples) == 0 {
		return nil, ErrNothing
	}
	best := try(samples, []term{{}})
	if best == nil {
		return nil, errors.New("a measured quantity is not above 0")
	}
	all := candidates(samples)
	singles := all[:slices.IndexFunc(append(slices.Clone(all), term{{}, {}}), func(t term) bool { return len(t) > 1 })]
	for n := 1; n <= maxTerms && best.Error > enough; n++ {
		if l := search(samples, singles, all, n); l != nil && l.score() < worthIt*best.score() {
			best = l
		}
	}
	return best, nil
}

// score is what laws are compared by.
func (l *Law) score() float64 {
	s := l.Error
	for _, t := range l.terms {
		if len(t) > 1 {
			s /= product
		}
	}
	return s
}

// try makes a law of these terms, if they can be had.
func try(samples []Sample, terms []term) *Law {
	coeff, err, ok := solve(samples, terms)
	if !ok {
		return nil
	}
	return &Law{terms: terms, coeff: coeff, known: samples, Error: err}
}

// better returns the better one of two laws, either of which may be nil.
func better(a, b *Law) *Law {
	if a == nil || b != nil && b.score() < a.score() {
		return b
	}
	return a
}

// search looks for the best law of n terms, with a constant or without: among all of single parameters first, and then by exchanging a term
// at a time for any other.
func search(samples []Sample, singles, all []term, n int) *Law {
	var best *Law
	var choose func(from int, terms []term)
	choose = func(from int, terms []term) {
		if len(terms) == n {
			best = better(best, try(samples, slices.Clone(terms)))
			best = better(best, try(samples, append([]term{{}}, terms...)))
			return
		}
		for i := from; i < len(singles); i++ {
			choose(i+1, append(terms, singles[i]))
		}
	}
	choose(0, nil)
	for best != nil {
		found := best
		for i := range best.terms {
			for _, c := range all {
				terms := slices.Clone(best.terms)
				terms[i] = c
				found = better(found, try(samples, terms))
			}
		}
		if found == best {
			break
		}
		best = found
	}
	return best
}

// At predicts. Where a sample has the same features, it is what was measured.
func (l *Law) At(x Features) float64 {
	sum, n := 0.0, 0
	for _, s := range l.known {
		if maps.Equal(s.X, x) {
			sum += s.Y
			n++
		}
	}
	if n > 0 {
		return sum / float64(n)
	}
	for i, t := range l.terms {
		sum += l.coeff[i] * t.of(x)
	}
	return sum
}

// candidates are the terms in one parameter and in two, of those that differ between samples.
func candidates(samples []Sample) []term {
	var singles []factor
	names := map[string]bool{}
	for _, s := range samples {
		for n := range s.X {
			names[n] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		values := map[float64]bool{}
		for _, s := range samples {
			values[s.X[n]] = true
		}
		switch sorted := slices.Sorted(maps.Keys(values)); len(sorted) {
		case 1:
		case 2: // no more can be said of it than which of the two
			singles = append(singles, factor{n, is, sorted[1]}, factor{n, isnot, sorted[1]})
			if sorted[0] > 0 {
				singles = append(singles, factor{name: n})
			}
		default:
			singles = append(singles, factor{name: n}, factor{name: n, shape: logarithm}, factor{name: n, shape: loglinear})
		}
	}
	var all []term
	for i, a := range singles {
		all = append(all, term{a})
		for _, b := range singles[:i] {
			if a.name != b.name {
				all = append(all, term{b, a})
			}
		}
	}
	// Of terms that are the same on all samples the simplest is enough.
	var distinct []term
	seen := map[string]bool{}
	slices.SortStableFunc(all, func(a, b term) int { return cmp.Compare(len(a), len(b)) })
	for _, t := range all {
		key := make([]byte, 0, 8*len(samples))
		first := 0.0
		for _, s := range samples {
			v := t.of(s.X)
			if first == 0 {
				first = v
			}
			if first != 0 {
				v /= first // a factor is the coefficient's
			}
			bits := math.Float64bits(math.Round(v*1e9) / 1e9)
			for k := range 8 {
				key = append(key, byte(bits>>(8*k)))
			}
		}
		if first != 0 && !seen[string(key)] {
			seen[string(key)] = true
			distinct = append(distinct, t)
		}
	}
	return distinct
}

// solve finds the coefficients that make the sum of the squares of the relative errors least, and the error of predicting each sample from
// the others. ok is false if one of them would be negative, or cannot be found from so few samples.
func solve(samples []Sample, terms []term) (coeff []float64, loo float64, ok bool) {
	n, k := len(samples), len(terms)
	if n < k || k > 1 && n < k+2 {
		return nil, 0, false
	}
	rows := make([][]float64, n) // of the terms over the measured value
	for i, s := range samples {
		if s.Y <= 0 {
			return nil, 0, false
		}
		rows[i] = make([]float64, k)
		for j, t := range terms {
			rows[i][j] = t.of(s.X) / s.Y
		}
	}
	normal := make([][]float64, k)
	right := make([]float64, k)
	for a := range k {
		normal[a] = make([]float64, k)
		for _, r := range rows {
			right[a] += r[a]
			for b := range k {
				normal[a][b] += r[a] * r[b]
			}
		}
	}
	inverse, ok := invert(normal)
	if !ok {
		return nil, 0, false
	}
	coeff = make([]float64, k)
	for a := range k {
		for b := range k {
			coeff[a] += inverse[a][b] * right[b]
		}
		if coeff[a] < 0 {
			return nil, 0, false
		}
	}
	sum := 0.0
	for _, r := range rows {
		predicted, leverage := 0.0, 0.0
		for a := range k {
			predicted += coeff[a] * r[a]
			for b := range k {
				leverage += r[a] * inverse[a][b] * r[b]
			}
		}
		if leverage > 1-1e-9 { // the others say nothing of it
			if k > 1 {
				return nil, 0, false
			}
			return coeff, math.Inf(1), true
		}
		e := (predicted - 1) / (1 - leverage)
		sum += e * e
	}
	return coeff, math.Sqrt(sum / float64(n)), true
}

// invert inverts a small matrix that is symmetric and should be positive; ok is false if it nearly is not.
func invert(m [][]float64) (inverse [][]float64, ok bool) {
	k := len(m)
	scale := make([]float64, k)
	for i := range k {
		if m[i][i] <= 0 {
			return nil, false
		}
		scale[i] = 1 / math.Sqrt(m[i][i])
	}
	work := make([][]float64, k) // scaled, with the unit matrix beside it
	for i := range k {
		work[i] = make([]float64, 2*k)
		for j := range k {
			work[i][j] = m[i][j] * scale[i] * scale[j]
		}
		work[i][k+i] = 1
	}
	for c := range k {
		pivot := c
		for r := c + 1; r < k; r++ {
			if math.Abs(work[r][c]) > math.Abs(work[pivot][c]) {
				pivot = r
			}
		}
		if math.Abs(work[pivot][c]) < 1e-9 {
			return nil, false
		}
		work[c], work[pivot] = work[pivot], work[c]
		p := work[c][c]
		for j := range 2 * k {
			work[c][j] /= p
		}
		for r := range k {
			if r == c {
				continue
			}
			f := work[r][c]
			for j := range 2 * k {
				work[r][j] -= f * work[c][j]
			}
		}
	}
	inverse = make([][]float64, k)
	for i := range k {
		inverse[i] = make([]float64, k)
		for j := range k {
			inverse[i][j] = work[i][k+j] * scale[i] * scale[j]
		}
	}
	return inverse, true
}
