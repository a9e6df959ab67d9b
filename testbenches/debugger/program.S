        # Sums 10 to 1 by a function, rewrites an instruction's result by data, and spins until a debugger lets it go on.
        .globl _start
_start:
        la   sp, stack_end
        la   t0, trap
        csrw mtvec, t0
        li   a0, 10
        call sum
        sd   a0, result, t0
        call answer
wait_for_debugger:
        ld   t1, released
        beqz t1, wait_for_debugger
        call answer
        li   t1, 42
        bne  a0, t1, wrong
        li   a0, 1
        j    tell

        # The debugger makes 42 of this 41: it has been executed before.
        .globl answer
answer: li   a0, 41
patched:
        ret

        # Only a debugger comes here.
        .globl asks
asks:   ecall
        j    asks

        .globl sum
sum:    mv   t1, a0
        li   a0, 0
1:      add  a0, a0, t1
add_done:
        addi t1, t1, -1
        sd   t1, left, t2
        bnez t1, 1b
        ret

        .balign 4
trap:   csrr a0, mcause
        slli a0, a0, 1
        ori  a0, a0, 1
        j    tell
wrong:  li   a0, 2 * 3 + 1
tell:   sd   a0, tohost, t0
2:      j    2b

        .data
        .balign 8
        .globl tohost, result, released, left
tohost: .dword 0
result: .dword 0
released: .dword 0
left:   .dword 0
        .space 256
stack_end:
