document.documentElement.dataset['usher'] = 'widget';
