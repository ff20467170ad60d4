// Goes to another place in the page.
location.hash = args.hash;
return { url: location.href.slice(0, 500), title: tidy(titleOf(document), 200) };
