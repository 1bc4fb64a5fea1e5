"""Functions of lists, to be written by the model."""


def find_max(numbers):
    """Return the largest number in a non-empty list.

    >>> find_max([3, 7, 2])
    7
    >>> find_max([-4, -9])
    -4
    """


def contains(items, value):
    """Return True if the list contains value, False otherwise.

    >>> contains([1, 2, 3], 2)
    True
    >>> contains([], 2)
    False
    """


def remove_duplicates(items):
    """Return a list with the duplicates removed, keeping the first occurrence of each element.

    >>> remove_duplicates([1, 2, 1, 3, 2])
    [1, 2, 3]
    >>> remove_duplicates([])
    []
    """


def average(numbers):
    """Return the average of a list of numbers, or 0 if it is empty.

    >>> average([1, 2, 3])
    2.0
    >>> average([])
    0
    """


def flatten(lists):
    """Return a single list with all elements of a list of lists.

    >>> flatten([[1, 2], [3], []])
    [1, 2, 3]
    >>> flatten([])
    []
    """
