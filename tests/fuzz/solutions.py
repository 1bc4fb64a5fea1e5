"""Solutions of the functions in `examples/`, for `mutants.py`."""


def invert_dict(d):
    inverted = {}
    for key, value in d.items():
        inverted[value] = key
    return inverted


def sum_values(d):
    total = 0
    for value in d.values():
        total += value
    return total


def char_frequency(text):
    found = {}
    for letter in text:
        found[letter] = found.get(letter, 0) + 1
    return found


def find_max(numbers):
    largest = numbers[0]
    for number in numbers[1:]:
        if number > largest:
            largest = number
    return largest


def contains(items, value):
    for item in items:
        if item == value:
            return True
    return False


def remove_duplicates(items):
    kept = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept


def average(numbers):
    if not numbers:
        return 0
    return sum(numbers) / len(numbers)


def flatten(lists):
    return [item for one in lists for item in one]


def is_even(n):
    return n % 2 == 0


def add(a, b):
    return a + b


def factorial(n):
    product = 1
    for factor in range(2, n + 1):
        product *= factor
    return product


def is_prime(n):
    if n < 2:
        return False
    for divisor in range(2, int(n ** 0.5) + 1):
        if n % divisor == 0:
            return False
    return True


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def is_palindrome(text):
    return text == text[::-1]


def count_vowels(text):
    return sum(letter in "aeiou" for letter in text.lower())


def reverse_string(text):
    return text[::-1]


def is_anagram(a, b):
    return sorted(a) == sorted(b)


def count_words(sentence):
    return len(sentence.split())


def longest_word(words):
    longest = words[0]
    for word in words[1:]:
        if len(word) > len(longest):
            longest = word
    return longest


def word_frequency(text):
    found = {}
    for word in text.split():
        if word not in found:
            found[word] = 0
        found[word] += 1
    return found
