import { render } from 'preact';
import { App } from './app.js';
import { watchLoading } from './device/loading.js';
import { keepPageOffline } from './offline/register.js';
import { followPreferences } from './preferences/preferences.js';
import { restoreSession, session, type Session } from './session/session.js';
import { loadParts } from './ui/part.js';
import { followLinks, isAtOffice } from './ui/router.js';

/** @param current the session that goes on after a reload, or in a new tab. Its workplace is needed at once */
function open(current: Session | null): void {
  if (current) {
    const { must_change_password: mustChoose, must_set_up_two_factor: mustSetUp } = current.user;
    // Other pages have fields for a person, and none for a scanner.
    if (!mustChoose && !mustSetUp) watchLoading();
    if (!isAtOffice()) void loadParts();
  }
  const root = document.getElementById('app');
  if (root) render(<App />, root);
}

followLinks();
const restored = restoreSession();
followPreferences(restored);
// Of this tab: at once, so that no key of a scanner falls between.
if (session.value) open(session.value);
else void restored.finally(() => open(session.value));
// After the page, whose files it loads again. Without it the page works as long as there is a connection.
window.addEventListener('load', () => void keepPageOffline().catch(() => undefined));
