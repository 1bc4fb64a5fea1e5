# expect: passed
# entry: Machine.State.opposite
# A method of a class inside of another.
class Machine:
    class State:
        def __init__(self, name):
            self.name = name

        def opposite(self):
            pass

    def __init__(self):
        self.state = Machine.State("off")

    def toggle(self):
        self.state = self.state.opposite()
        return self.state.name


# --- body ---
class Machine:
    class State:
        def __init__(self, name):
            self.name = name

        def opposite(self):
            return Machine.State("off" if self.name == "on" else "on")

    def __init__(self):
        self.state = Machine.State("off")

    def toggle(self):
        self.state = self.state.opposite()
        return self.state.name


# --- tests ---
machine = Machine()
assert machine.toggle() == "on"
assert machine.toggle() == "off"
assert Machine.State("on").opposite().name == "off"
assert isinstance(machine.state, Machine.State)
