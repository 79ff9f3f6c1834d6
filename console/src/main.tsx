import { render } from 'preact';
import { App } from './app.js';
import { restoreSession } from './session/session.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/layout.css';
import './styles/pages.css';

restoreSession();
const root = document.getElementById('app');
if (root) render(<App />, root);
