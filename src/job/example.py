def is_even(n):
    """Return True if n is even.

    >>> is_even(4)
    True
    >>> is_even(7)
    False
    """
