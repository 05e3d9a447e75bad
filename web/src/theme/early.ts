// Runs before anything is painted, so that a chosen theme does not flash.
const chosen = localStorage.getItem('moot.theme')
if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen
export {}
