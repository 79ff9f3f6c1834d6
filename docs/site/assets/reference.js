// Draws the API reference with Scalar, from this service's own files and without Scalar's own services.
const chosen = document.documentElement.dataset.theme;
const isDark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;

const configuration = (dark) => ({
  url: '/docs/json',
  layout: 'modern',
  theme: 'none',
  forceDarkModeState: dark ? 'dark' : 'light',
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  persistAuth: false,
});

const reference = Scalar.createApiReference('#reference', configuration(isDark));
document.addEventListener('themechange', ({ detail }) => reference.updateConfiguration(configuration(detail.isDark)));
