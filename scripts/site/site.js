// Search and theme of the documentation site. A plain script: it also works when a page is opened as a file.
const THEMES = { system: '◐', dark: '☾', light: '☀' };
const NEXT = { system: 'dark', dark: 'light', light: 'system' };
const SHOWN_MAX = 12;
const base = new URL('.', document.currentScript.src);
const box = document.getElementById('search');
const list = document.getElementById('found');
const button = document.getElementById('theme');
let sections;
let links = [];
let at = -1;

/** The console keeps the theme under this name too. */
function chosenTheme() {
  const kept = localStorage.getItem('parley.theme');
  return kept === 'dark' || kept === 'light' ? kept : 'system';
}

function showTheme() {
  const theme = chosenTheme();
  document.documentElement.dataset.theme = theme;
  button.textContent = THEMES[theme];
  button.setAttribute('aria-label', `Theme: ${theme}`);
  button.hidden = false;
}

button.addEventListener('click', () => {
  localStorage.setItem('parley.theme', NEXT[chosenTheme()]);
  showTheme();
});
showTheme();

globalThis.docsIndex = (loaded) => {
  sections = loaded.map(([address, page, heading, text]) => ({
    address,
    page,
    heading,
    text,
    low: [page, heading, text].map((part) => part.toLowerCase()),
  }));
  search();
};

/** The index is loaded when somebody wants to search. */
function load() {
  if (document.getElementById('search-index') !== null) return;
  const script = document.createElement('script');
  script.id = 'search-index';
  script.src = new URL('search-index.js', base).href;
  document.head.append(script);
}

/** A section matches if it has every word. Words in the title count most, then those in the heading, then the words as they were typed. */
function score({ low: [page, heading, text] }, words) {
  const phrase = words.join(' ');
  let sum = words.length > 1 && (text.includes(phrase) || heading.includes(phrase)) ? 10 : 0;
  for (const word of words) {
    const inPage = page.includes(word);
    const inHeading = heading.includes(word);
    if (!inPage && !inHeading && !text.includes(word)) return 0;
    // The first section stands for its page: it has no heading.
    sum += (inPage ? (heading === '' ? 12 : 3) : 0) + (inHeading ? 8 : 0) + Math.min(3, text.split(word).length - 1);
  }
  return sum;
}

function search() {
  if (sections === undefined) return;
  const words = box.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = words.length === 0 ? [] : sections.map((section) => [score(section, words), section]).filter(([points]) => points > 0);
  found.sort(([one], [two]) => two - one);
  links = found.slice(0, SHOWN_MAX).map(([, section], place) => linkTo(section, words, place));
  list.replaceChildren(...(links.length > 0 ? links : [nothing(words)]));
  list.hidden = words.length === 0;
  box.setAttribute('aria-expanded', String(!list.hidden));
  document.getElementById('count').textContent = words.length === 0 ? '' : `${found.length} found`;
  select(links.length > 0 ? 0 : -1);
}

function nothing(words) {
  const line = document.createElement('p');
  line.textContent = `No page has ${words.join(' ')}.`;
  return line;
}

function linkTo({ address, page, heading, text }, words, place) {
  const link = document.createElement('a');
  link.href = new URL(address, base).href;
  link.id = `found-${place}`;
  link.setAttribute('role', 'option');
  const details = document.createElement('small');
  details.append(...marked(excerpt(text, words), words));
  link.append(...marked(heading === '' ? page : `${page}: ${heading}`, words), details);
  return link;
}

/** The text around the first word that it has. */
function excerpt(text, words) {
  const low = text.toLowerCase();
  const first = Math.min(...words.map((word) => low.indexOf(word)).filter((place) => place >= 0), text.length);
  const start = first === text.length ? 0 : Math.max(0, first - 50);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + 150)}${start + 150 < text.length ? '…' : ''}`;
}

/** The words in the text, as `mark` elements. Text is never read as HTML. */
function marked(text, words) {
  const any = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'i');
  return text.split(any).map((piece, place) => {
    if (place % 2 === 0) return piece;
    const mark = document.createElement('mark');
    mark.textContent = piece;
    return mark;
  });
}

function select(place) {
  at = place;
  for (const [number, link] of links.entries()) link.setAttribute('aria-selected', String(number === at));
  if (at < 0) {
    box.removeAttribute('aria-activedescendant');
    return;
  }
  box.setAttribute('aria-activedescendant', links[at].id);
  if (!list.hidden) links[at].scrollIntoView({ block: 'nearest' });
}

function close() {
  list.hidden = true;
  box.setAttribute('aria-expanded', 'false');
}

box.addEventListener('focus', load);
box.addEventListener('input', search);
box.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (links.length > 0) select((at + (event.key === 'ArrowDown' ? 1 : links.length - 1)) % links.length);
  } else if (event.key === 'Enter' && at >= 0 && !list.hidden) {
    links[at].click();
    close();
  } else if (event.key === 'Escape') close();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === box || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  box.focus();
});
document.addEventListener('click', (event) => {
  if (!event.target.closest('.search')) close();
});
list.addEventListener('click', close);
