/** Hides the top bar, which shows Swagger's logo and an input for other documents. */
export const THEME = '.swagger-ui .topbar { display: none }';

/** Returns the page's HTML. @param files the folder of the page's files, relative to the page */
export function pageOf(files: string): string {
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <title>Crossdock API reference</title>
    <link rel="stylesheet" href="${files}/swagger-ui.css">
    <link rel="stylesheet" href="${files}/index.css">
    <link rel="stylesheet" href="${files}/theme.css">
    <link rel="icon" type="image/png" href="${files}/favicon-32x32.png" sizes="32x32">
    <link rel="icon" type="image/png" href="${files}/favicon-16x16.png" sizes="16x16">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${files}/swagger-ui-bundle.js"></script>
    <script src="${files}/swagger-ui-standalone-preset.js"></script>
    <script src="${files}/swagger-initializer.js"></script>
  </body>
</html>
`;
}

/** Returns the script that starts Swagger UI with this instance's contract and without the online validator. */
export function initializerOf(): string {
  return `const page = window.location.pathname.replace(/\\/$/, '');
SwaggerUIBundle({
  url: page + '/json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
  validatorUrl: null,
  docExpansion: 'list',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
});
`;
}
