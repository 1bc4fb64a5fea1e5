"""Functions of words and sentences, to be written by the model."""


def count_words(sentence):
    """Return the number of words in a sentence.

    >>> count_words('the quick brown fox')
    4
    >>> count_words('')
    0
    """


def longest_word(words):
    """Return the longest string in a non-empty list.

    >>> longest_word(['pear', 'banana', 'fig'])
    'banana'
    >>> longest_word(['a'])
    'a'
    """


def word_frequency(text):
    """Return a dictionary that maps each word of text to how often it occurs.

    >>> word_frequency('a b a')
    {'a': 2, 'b': 1}
    >>> word_frequency('')
    {}
    """
