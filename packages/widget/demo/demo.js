// A site has a script tag in its page. Here a script creates the tag, because the URL names the site and the token.
const query = new URLSearchParams(location.search);
const site = query.get('site') ?? '';
const token = query.get('token') ?? '';

/** @param {string} text */
function escapeAttribute(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

const values = { site: site === '' ? '…' : site, token: token === '' ? 'pub_…' : token };
const tag = document.getElementById('tag');
if (tag !== null)
  tag.textContent = `<script src="${new URL('widget.js', location.href).href}"\n  data-site="${escapeAttribute(values.site)}"\n  data-token="${escapeAttribute(values.token)}" async></script>`;

if (site === '' || token === '') document.getElementById('setup')?.removeAttribute('hidden');
else {
  const script = document.createElement('script');
  script.src = 'widget.js';
  script.dataset['color'] = '#2f5d46';
  script.dataset['title'] = 'Ask us';
  // Other attributes can be tried in the URL, for example data-position=left.
  for (const [name, value] of query) script.dataset[name.replace(/^data-/, '')] = value;
  document.head.append(script);
}
