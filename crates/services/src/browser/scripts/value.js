// Reads what a field holds now. Passwords are not told.
const found = find(args);
if (found.outcome) return { same: false, value: null };
const { element } = found;
const value = valueOf(element);
const isSecret = typeOf(element) === "password";
return { same: value === args.value, value: isSecret ? null : value.slice(0, 200) };
