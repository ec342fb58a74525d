// SPDX-License-Identifier: Apache-2.0
//
// inc_endpoint_index: where a table keeps an endpoint, without places for the numbers that none has.
//
// Contract
//   latency     0 cycles
//   throughput  1 per cycle
//   index       below GROUPS * MASK_W, and another for each endpoint that is present. Of 2**n + 1 endpoints in each of 2**m groups the
//               last ones lie behind all others, which takes a choice and no sum; else those of a group lie side by side
//   present     0 for a number of MASK_W or more and for a group of GROUPS or more; index is any then
//   stall       none
//   reset       none
//   not done    nothing is stored
`default_nettype none

module inc_endpoint_index #(
    // bits of an endpoint's number in its group
    parameter EP_W    = 3,
    // bits of {group, number}
    parameter EI_W    = 4,
    // endpoints of a group
    parameter MASK_W  = 5,
    // groups
    parameter GROUPS  = 2,
    // bits of the index; 2**INDEX_W >= GROUPS * MASK_W
    parameter INDEX_W = 4
) (
    input  wire [EI_W-1:0]    ei,

    output wire [INDEX_W-1:0] index,
    output wire               present
);

`ifndef __ICARUS__
    generate
        if (EP_W < 1 || EI_W < EP_W || MASK_W < 1 || MASK_W > (1 << EP_W)) begin : gen_bad_index
            $error("inc_endpoint_index: MASK_W must be at most 2**EP_W, EP_W at most EI_W");
        end
        if (GROUPS < 1 || GROUPS > (1 << (EI_W - EP_W))) begin : gen_bad_groups
            $error("inc_endpoint_index: GROUPS must be 1 to 2**(EI_W - EP_W)");
        end
        if (INDEX_W < 1 || INDEX_W > 30 || GROUPS * MASK_W > (1 << INDEX_W)) begin : gen_bad_index_w
            $error("inc_endpoint_index: 2**INDEX_W must be at least GROUPS * MASK_W");
        end
    endgenerate
`endif

    localparam LOW_W = EP_W < INDEX_W ? EP_W : INDEX_W;

    wire [INDEX_W-1:0] member;
    wire               member_there = {1'b0, ei[EP_W-1:0]} < MASK_W[EP_W:0];
    assign member[LOW_W-1:0] = ei[LOW_W-1:0];

    generate
        if (INDEX_W > EP_W) begin : gen_high
            assign member[INDEX_W-1:EP_W] = {(INDEX_W-EP_W){1'b0}};
        end
        if (EI_W > EP_W && MASK_W >= 3 && (1 << $clog2(MASK_W - 1)) == MASK_W - 1 && GROUPS == (1 << (EI_W - EP_W))) begin : gen_last_apart
            localparam GRP_W  = EI_W - EP_W;
            localparam BELOW  = INDEX_W - 1 - GRP_W;
            wire [GRP_W-1:0] group = ei[EI_W-1:EP_W];
            wire             last  = ei[EP_W-1:BELOW] != {(EP_W-BELOW){1'b0}};
            assign index   = last ? {1'b1, {BELOW{1'b0}}, group} : {1'b0, group, member[BELOW-1:0]};
            assign present = member_there;
            wire unused_member = &{1'b0, member};
        end else if (EI_W > EP_W) begin : gen_groups
            localparam GRP_W = EI_W - EP_W;
            wire [GRP_W-1:0]   group = ei[EI_W-1:EP_W];
            reg  [INDEX_W-1:0] first, next;
            reg                group_there;
            integer            g;
            // a choice of constants, not a product: a LUT for each bit
            always @* begin
                first       = {INDEX_W{1'b0}};
                next        = {INDEX_W{1'b0}};
                group_there = 1'b0;
                for (g = 0; g < GROUPS; g = g + 1) begin
                    if ({{(32-GRP_W){1'b0}}, group} == g) begin
                        first       = next;
                        group_there = 1'b1;
                    end
                    next = next + MASK_W[INDEX_W-1:0];
                end
            end
            assign index   = first + member;
            assign present = member_there && group_there;
        end else begin : gen_one_group
            assign index   = member;
            assign present = member_there;
        end
    endgenerate

endmodule

`default_nettype wire
