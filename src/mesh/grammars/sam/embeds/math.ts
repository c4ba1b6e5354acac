/** A number of Python: `/` makes a float, which is written with a decimal point. */
interface PyNumber {
  readonly value: number;
  readonly isFloat: boolean;
}

type PyFunction = (...values: readonly number[]) => number;
/** Functions of SAM's math embeds whose result is a float, and those that keep whole numbers. */
const FLOATS: Readonly<Record<string, PyFunction>> = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  log: (value = 0, base) => (base === undefined ? Math.log(value) : Math.log(value) / Math.log(base)),
  log10: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
};
const WHOLES: Readonly<Record<string, PyFunction>> = {
  abs: Math.abs,
  min: Math.min,
  max: Math.max,
  floor: Math.floor,
  ceil: Math.ceil,
  pow: Math.pow,
};
const CONSTANTS: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };
const DEPTH_MAX = 50;

/** The text that Python would print for an arithmetic expression. Throws for any other expression. */
export function evaluateMath(expression: string, format?: string): string {
  const { value, isFloat } = new MathReader(expression).read();
  if (!Number.isFinite(value)) throw new RangeError('the result is not a number');
  const digits = /^(,?)\.(\d{1,2})f$/.exec(format ?? '');
  if (digits !== null) return grouped(value.toFixed(Number(digits[2])), digits[1] === ',');
  if (format === ',') return grouped(String(value), true);
  return isFloat && Number.isInteger(value) ? `${value}.0` : String(value);
}

function grouped(text: string, isGrouped: boolean): string {
  if (!isGrouped) return text;
  const [whole = '', ...fraction] = text.split('.');
  const sign = whole.startsWith('-') ? '-' : '';
  const digits = whole.slice(sign.length);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return [`${sign}${groups.join(',')}`, ...fraction].join('.');
}

/** Reads `+ - * / // % **`, parentheses, and calls of the functions above. */
class MathReader {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(expression: string) {
    const tokens = expression.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|\*\*|\/\/|[-+*/%(),]|[A-Za-z_]\w*|\S/gi) ?? [];
    this.#tokens = tokens;
  }

  read(): PyNumber {
    const result = this.#sum();
    if (this.#at < this.#tokens.length) throw new SyntaxError('not an arithmetic expression');
    return result;
  }

  #take(...signs: readonly string[]): string | undefined {
    const next = this.#tokens[this.#at];
    if (next === undefined || !signs.includes(next)) return undefined;
    this.#at += 1;
    return next;
  }

  #sum(): PyNumber {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new RangeError('too deep');
    let left = this.#product();
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-')) left = apply(sign, left, this.#product());
    this.#depth -= 1;
    return left;
  }

  #product(): PyNumber {
    let left = this.#signed();
    for (let sign = this.#take('*', '/', '//', '%'); sign !== undefined; sign = this.#take('*', '/', '//', '%'))
      left = apply(sign, left, this.#signed());
    return left;
  }

  #signed(): PyNumber {
    let isNegative = false;
    for (let sign = this.#take('-', '+'); sign !== undefined; sign = this.#take('-', '+')) if (sign === '-') isNegative = !isNegative;
    const power = this.#power();
    return isNegative ? { ...power, value: -power.value } : power;
  }

  #power(): PyNumber {
    const base = this.#atom();
    return this.#take('**') === undefined ? base : apply('**', base, this.#signed());
  }

  #atom(): PyNumber {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token === undefined) throw new SyntaxError('the expression ends too early');
    if (token === '(') return this.#closed(this.#sum());
    if (/^[\d.]/.test(token)) return { value: Number(token), isFloat: /[.e]/i.test(token) };
    const constant = CONSTANTS[token];
    if (constant !== undefined && this.#tokens[this.#at] !== '(') return { value: constant, isFloat: true };
    if (this.#take('(') === undefined) throw new SyntaxError(`${token} is not known`);
    return call(token, this.#arguments());
  }

  #closed(value: PyNumber): PyNumber {
    if (this.#take(')') === undefined) throw new SyntaxError('a parenthesis is missing');
    return value;
  }

  #arguments(): readonly PyNumber[] {
    const values = [this.#sum()];
    while (this.#take(',') !== undefined) values.push(this.#sum());
    if (this.#take(')') === undefined) throw new SyntaxError('a parenthesis is missing');
    return values;
  }
}

function apply(sign: string, { value: left, isFloat: leftFloat }: PyNumber, { value: right, isFloat: rightFloat }: PyNumber): PyNumber {
  const isFloat = leftFloat || rightFloat;
  switch (sign) {
    case '+':
      return { value: left + right, isFloat };
    case '-':
      return { value: left - right, isFloat };
    case '*':
      return { value: left * right, isFloat };
    case '/':
      return { value: left / right, isFloat: true };
    case '//':
      return { value: Math.floor(left / right), isFloat };
    case '%':
      return { value: left - right * Math.floor(left / right), isFloat };
    default:
      return { value: left ** right, isFloat: isFloat || right < 0 };
  }
}

function call(name: string, given: readonly PyNumber[]): PyNumber {
  const values = given.map(({ value }) => value);
  const [first = 0, second = 0] = values;
  if (name === 'round') return { value: Number(first.toFixed(Math.max(0, second))), isFloat: given.length > 1 };
  const float = Object.hasOwn(FLOATS, name) ? FLOATS[name] : undefined;
  if (float !== undefined) return { value: float(...values), isFloat: true };
  const whole = Object.hasOwn(WHOLES, name) ? WHOLES[name] : undefined;
  if (whole === undefined) throw new SyntaxError(`${name} is not known`);
  return { value: whole(...values), isFloat: name !== 'floor' && name !== 'ceil' && given.some(({ isFloat }) => isFloat) };
}
