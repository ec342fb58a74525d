// SPDX-License-Identifier: Apache-2.0

// Package flows simulates training jobs on a cluster at the level of flows: no packets, but the rate that each collective has, and the moment at
// which it ends. It answers what a policy of placing groups is worth, which a simulation of packets cannot for a thousand hosts.
//
// A collective is one flow over all links that it uses. On a tree of engines every link of the tree carries the tensor once in either direction;
// on a ring of hosts every hop carries what a rank sends. All its links run at one rate, that of the slowest. Rates are max-min fair: nobody
// can have more without taking it from somebody who has no more. They change when a collective begins or ends, and at no other time.
//
// Trees come from control/placement, the library that the manager of a real cluster uses. The same file of inputs and the same seed give
// the same result to the last digit.
package flows
