# expect: passed
# entry: Temperature.fahrenheit
# A property with a setter, a static method and one of the class.
class Temperature:
    def __init__(self, celsius=0):
        self._celsius = celsius

    @property
    def fahrenheit(self):
        pass

    @fahrenheit.setter
    def fahrenheit(self, value):
        pass


# --- body ---
class Temperature:
    def __init__(self, celsius=0):
        self._celsius = celsius

    @property
    def fahrenheit(self):
        return self._celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self._celsius = (value - 32) * 5 / 9


# --- tests ---
t = Temperature(100)
assert t.fahrenheit == 212
t.fahrenheit = 32
assert t._celsius == 0
assert Temperature().fahrenheit == 32
