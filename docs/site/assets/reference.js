// Draws the API reference with Scalar, from this service's own files and without Scalar's own services.
const chosen = document.documentElement.dataset.theme;
const isDark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;

// The samples name the host of this page.
const response = await fetch('/docs/json');
const content = (await response.text()).replaceAll('https://demo.crossdock.example', location.origin);

const configuration = (dark) => ({
  content,
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
  hiddenClients: true,
  persistAuth: false,
});

const container = document.getElementById('reference');
const reference = Scalar.createApiReference(container, configuration(isDark));
document.addEventListener('themechange', ({ detail }) =>
  reference.updateConfiguration(configuration(detail.isDark)),
);

// Scalar 1.44 leaves some elements without a name, or with attributes that their role does not have. Screen readers and
// keyboards need these corrections.
let isPlanned = false;
new MutationObserver(() => {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    correctNames();
    correctRoles();
  });
}).observe(container, { childList: true, subtree: true, attributeFilter: ['aria-selected', 'class'] });

function correctNames() {
  for (const button of container.querySelectorAll('button')) {
    const text = button.innerText.trim();
    const name = button.getAttribute('aria-label');
    // A name that differs from the visible text cannot be spoken.
    if (name && text && !name.includes(text)) button.removeAttribute('aria-label');
    if (!name && !text) button.setAttribute('aria-label', button.textContent.trim() || 'More');
    if (button.role === 'search') button.setAttribute('aria-label', 'Search');
  }
}

function correctRoles() {
  for (const button of container.querySelectorAll('button[aria-selected]:not([role])')) {
    button.toggleAttribute('aria-current', button.getAttribute('aria-selected') === 'true');
    button.removeAttribute('aria-selected');
  }
  container.querySelector('button[role="search"]')?.removeAttribute('role');
  // An aside may not be a navigation (ARIA in HTML).
  container.querySelector('aside[role="navigation"]')?.setAttribute('role', 'region');
  // Many cards have one name, and the page has a banner of its own.
  for (const card of container.querySelectorAll('.scalar-card[role="region"]')) card.role = 'group';
  for (const header of container.querySelectorAll('header:not([role])')) header.role = 'group';
  for (const scrollable of container.querySelectorAll('pre > code, ul.endpoints, .markdown table'))
    scrollable.tabIndex = 0;
}
