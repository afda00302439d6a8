// Starts the explorer on this server's own description, in the browser's language. No request leaves the server.
const language = navigator.language.startsWith('zh') ? 'zh' : 'en';
SwaggerUIBundle({
  dom_id: '#explorer',
  url: `/openapi.json?lang=${language}`,
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
