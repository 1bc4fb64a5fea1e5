"""Functions of strings, to be written by the model."""


def is_palindrome(text):
    """Return True if text reads the same forwards and backwards, False otherwise.

    >>> is_palindrome('level')
    True
    >>> is_palindrome('apple')
    False
    >>> is_palindrome('')
    True
    """


def count_vowels(text):
    """Return the number of vowels in text, ignoring case.

    >>> count_vowels('Hello')
    2
    >>> count_vowels('sky')
    0
    """


def reverse_string(text):
    """Return the string reversed.

    >>> reverse_string('abc')
    'cba'
    >>> reverse_string('')
    ''
    """


def is_anagram(a, b):
    """Return True if the strings a and b are anagrams of each other, False otherwise.

    >>> is_anagram('listen', 'silent')
    True
    >>> is_anagram('apple', 'pear')
    False
    """
