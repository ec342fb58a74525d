// SPDX-License-Identifier: Apache-2.0

// Package sim turns Verilog into a compiled model inside the Go process and lets Go
// code be its testbench.
//
// A [Build] names the Verilog. [Build.Compile] runs Verilator and the C++ compiler
// once and keeps the shared library in a cache, found again by content. The [Lib]
// makes any number of independent [Model] instances; models of different Verilog
// live side by side. Ports are shared memory: reading one is reading a variable, and
// a clock costs one call into C.
//
// # The timing rule
//
// There is one rule, for every driver, monitor and task:
//
//   - inputs are driven just after a rising edge of the clock;
//   - outputs are sampled just before the next rising edge.
//
// [Model.Cycle] performs one clock: the falling edge lets everything settle with the
// inputs just driven, outputs are sampled, the rising edge follows. After it, a
// [Port] of an output shows the sample, the value which registers clocked by that
// edge have seen, and a Port of an input still shows what was driven, until
// somebody drives the next value. So "valid and ready" read after a Cycle are the
// two values that made (or did not make) a transfer at that very edge, whatever
// combinational paths lie between them.
//
// [Model.Tick] is a Cycle followed by the callbacks in three phases, so that the
// order in which parts were attached does not matter: [Model.OnSample] looks at what
// happened at the edge, [Model.OnReact] decides (tasks run here), [Model.OnDrive]
// drives the inputs of the next cycle. All bus models go through one Tick.
//
// A model may have more clocks: [Model.AddClock]. Each has the timing rule and the three phases for itself, and Tick performs a cycle of the
// first with the edges of the others in their places. Frequencies, drift, jitter and stops are the test's to choose.
//
// A model in which nothing can change need not be evaluated: see [Options.SkipStill].
// It pays where the Verilog stands still between stimuli, down to its last register;
// one counter that runs free keeps a model awake for ever.
//
// # Tasks
//
// A [TB] runs straight-line test code on coroutines, in the words a cocotb user
// knows: [Task.RisingEdge], [Task.FallingEdge], [Task.Timer], [Task.ClockCycles],
// [Task.First], [Task.Join], [Event], [Queue]. Callbacks are several times cheaper;
// tasks read better.
//
// # When something fails
//
// $error, $fatal, $stop, a failed assertion and $finish end the test with an error
// that names the Verilog file and line; they never end the process. A bus model
// reports with [Model.Fail]. The first error stays and is what every later Tick
// returns. Numbers: cycles count rising edges since the model was made, beginning
// with 1 for the first; times are nanoseconds or picoseconds as named.
package sim
