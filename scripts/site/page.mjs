import { posix } from 'node:path';

const MARKS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escaped(text) {
  return text.replaceAll(/[&<>"]/g, (mark) => MARKS[mark]);
}

const LOGO = `<svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path class="one" d="M8 9h11a3 3 0 0 1 3 3v3a3 3 0 0 1-3 3h-5l-4 4v-4H8z"/><path class="two" d="M25 13v6a3 3 0 0 1-3 3h-4l3.5 3.5"/></svg>`;

/** One page. It has no inline script or style: the policy of the node allows files only. */
export function pageHtml({ path, title, html, sections }, nav) {
  const to = (target) => escaped(posix.relative(posix.dirname(path), target));
  const groups = nav.map(
    ({ title: group, links }) =>
      `<h2>${escaped(group)}</h2>\n<ul>\n${links.map((link) => `<li><a href="${to(link.path)}"${link.path === path ? ' aria-current="page"' : ''}>${escaped(link.text)}</a></li>`).join('\n')}\n</ul>`,
  );
  const inside = sections.filter(([, , heading]) => heading !== '');
  const contents = inside.map(([address, , heading]) => `<li><a href="#${escaped(address.split('#')[1])}">${escaped(heading)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Parley</title>
<link rel="icon" href="${to('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${to('site.css')}">
<script src="${to('site.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header class="top">
<a class="brand" href="${to('index.html')}" aria-label="Parley documentation">${LOGO}<span>Parley</span></a>
<div class="search" role="search"><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list"><div id="found" class="found" role="listbox" aria-label="Pages found" hidden></div><p id="count" class="unseen" role="status"></p></div>
<a class="pages" href="#pages">Pages</a>
<button type="button" id="theme" class="quiet" title="Switch theme" hidden></button>
</header>
<div class="columns">
<main id="main" tabindex="-1">
${inside.length > 3 ? `<details class="contents"><summary>On this page</summary><ul>${contents.join('')}</ul></details>\n` : ''}${html}</main>
<nav id="pages" class="nav" aria-label="Pages">
${groups.join('\n')}
</nav>
</div>
</body>
</html>
`;
}
