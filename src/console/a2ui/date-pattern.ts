/** The fields of a date pattern of Unicode (TR35) that A2UI's `formatDate` uses. */
const FIELDS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  yyyy: { year: 'numeric' },
  y: { year: 'numeric' },
  yy: { year: '2-digit' },
  MMMM: { month: 'long' },
  MMM: { month: 'short' },
  EEEE: { weekday: 'long' },
  EEE: { weekday: 'short' },
  EE: { weekday: 'short' },
  E: { weekday: 'short' },
};

/** A date in a pattern such as `d MMMM yyyy, HH:mm`. A text that is no date stays as it is. */
export function dateInPattern(text: string, pattern: string): string {
  // A date without a time is that day here, not midnight in Greenwich.
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  if (text === '' || Number.isNaN(date.getTime())) return text;
  if (pattern === '') return date.toLocaleString();
  return pattern.replaceAll(/'([^']*)'|([a-zA-Z])\2*/g, (field, quoted: string | undefined) =>
    quoted === undefined ? fieldOf(field, date) : quoted === '' ? "'" : quoted,
  );
}

function fieldOf(field: string, date: Date): string {
  const format = FIELDS[field];
  if (format !== undefined) return new Intl.DateTimeFormat(undefined, format).format(date);
  const padded = (value: number): string => String(value).padStart(field.length, '0');
  switch (field[0]) {
    case 'M':
      return padded(date.getMonth() + 1);
    case 'd':
      return padded(date.getDate());
    case 'H':
      return padded(date.getHours());
    case 'h':
      return padded(date.getHours() % 12 || 12);
    case 'm':
      return padded(date.getMinutes());
    case 's':
      return padded(date.getSeconds());
    case 'a':
      return date.getHours() < 12 ? 'AM' : 'PM';
    default:
      return field;
  }
}
