// SPDX-License-Identifier: Apache-2.0

package contract

// AssertionFiles names, in a generated folder, the assertions that go with the Verilog, one file a line, for simulators that have bind.
const AssertionFiles = "sva/files.f"
