/** Media types by file extension. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  ts: 'text/x-typescript',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** The media type of a file, by its extension. */
export function mediaTypeOf(name: string): string | undefined {
  return TYPES[/\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
}

/** The extension for a file without a name. */
export function endingOf(mediaType: string | undefined): string {
  const plain = mediaType?.split(';')[0]?.trim().toLowerCase();
  return Object.entries(TYPES).find(([, type]) => type === plain)?.[0] ?? 'bin';
}
