import { render } from 'preact';
import { App } from './app.js';
import { restoreSession } from './session/session.js';

restoreSession();
const root = document.getElementById('app');
if (root) render(<App />, root);
