// No library: they name thousands of programs and devices, and every name that is not known here would have to be cut in a mail anyway. The
// console uses this file too, so it imports nothing.

/** The first match counts, because browsers also name those that they resemble. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\b(?:Linux|X11)\b/, 'Linux'],
];

/** Returns the browser and the operating system that a `User-Agent` names, each undefined if it is not known here. */
export const readUserAgent = (
  userAgent: string,
): { browser: string | undefined; system: string | undefined } => ({
  browser: nameIn(BROWSERS, userAgent),
  system: nameIn(SYSTEMS, userAgent),
});

const nameIn = (names: [RegExp, string][], userAgent: string): string | undefined =>
  names.find(([mark]) => mark.test(userAgent))?.[1];
