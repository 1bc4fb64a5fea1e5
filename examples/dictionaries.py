"""Functions of dictionaries, to be written by the model."""


def invert_dict(d):
    """Return a dictionary with the keys and values of d exchanged.

    >>> invert_dict({'a': 1, 'b': 2})
    {1: 'a', 2: 'b'}
    >>> invert_dict({})
    {}
    """


def sum_values(d):
    """Return the sum of the values of a dictionary.

    >>> sum_values({'a': 3, 'b': 4})
    7
    >>> sum_values({})
    0
    """


def char_frequency(text):
    """Return a dictionary that maps each character of text to how often it occurs.

    >>> char_frequency('abca')
    {'a': 2, 'b': 1, 'c': 1}
    >>> char_frequency('')
    {}
    """
