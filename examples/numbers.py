"""Functions of numbers, to be written by the model."""


def is_even(n):
    """Return True if n is even, False otherwise.

    >>> is_even(4)
    True
    >>> is_even(7)
    False
    """


def add(a, b):
    """Return the sum of a and b.

    >>> add(2, 3)
    5
    >>> add(-1, 1)
    0
    """


def factorial(n):
    """Return the factorial of a non-negative integer.

    >>> factorial(0)
    1
    >>> factorial(5)
    120
    """


def is_prime(n):
    """Return True if n is a prime number, False otherwise.

    >>> is_prime(2)
    True
    >>> is_prime(9)
    False
    >>> is_prime(1)
    False
    """


def gcd(a, b):
    """Return the greatest common divisor of a and b.

    >>> gcd(12, 18)
    6
    >>> gcd(7, 5)
    1
    """
