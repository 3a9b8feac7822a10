"""Terms as formulas of z3, which proves independently what follows from what."""

import z3

from provenn.logic.terms import Op, Term

__all__ = ["build_formula"]

_OPERATIONS = {Op.AND: z3.And, Op.OR: z3.Or, Op.XOR: z3.Xor, Op.MINUS: lambda left, right: z3.And(left, z3.Not(right))}


def build_formula(term: Term) -> z3.BoolRef:
    """Return the formula that says of an object that it lies in a set."""
    stack: list[z3.BoolRef] = []
    for token in term.postfix:
        if isinstance(token, str):
            stack.append(z3.Bool(token))
        elif token is Op.EMPTY:
            stack.append(z3.BoolVal(False))
        elif token is Op.NOT:
            stack.append(z3.Not(stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(_OPERATIONS[token](left, right))
    return stack[0]
