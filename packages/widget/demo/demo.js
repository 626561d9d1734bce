// What a site does with a tag in its page is done here by hand, because the address says whose widget it is.
const query = new URLSearchParams(location.search);
const site = query.get('site') ?? '';
const token = query.get('token') ?? '';

/** @param {string} text */
function attribute(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

const shown = { site: site === '' ? '…' : site, token: token === '' ? 'pub_…' : token };
const tag = document.getElementById('tag');
if (tag !== null)
  tag.textContent = `<script src="${location.origin}/widget.js"\n  data-site="${attribute(shown.site)}"\n  data-token="${attribute(shown.token)}" async></script>`;

if (site === '' || token === '') document.getElementById('setup')?.removeAttribute('hidden');
else {
  const script = document.createElement('script');
  script.src = '/widget.js';
  script.dataset['color'] = '#2f5d46';
  script.dataset['title'] = 'Ask us';
  // All that the address says, so that it can be tried: data-position=left, say.
  for (const [name, value] of query) script.dataset[name.replace(/^data-/, '')] = value;
  document.head.append(script);
}
