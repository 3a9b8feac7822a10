// How far a job is, without loading the page again: asks once a second, and shows the page anew when the job has ended.
const shown = document.getElementById("job");

function say(id, text) {
  const element = document.getElementById(id);
  if (element.textContent !== text) element.textContent = text;
}

async function look() {
  try {
    const answer = await fetch(shown.dataset.address);
    if (!answer.ok) return location.reload();
    const job = await answer.json();
    if (!["waiting", "running"].includes(job.state)) return location.reload();
    const bar = document.getElementById("bar");
    if (job.share === null) bar.removeAttribute("value");
    else bar.value = job.share;
    const ahead = `${job.ahead} other job${job.ahead === 1 ? "" : "s"} before it`;
    say("details", job.state === "waiting" ? ahead : job.progress);
    // Read aloud: only what is worth an interruption.
    const part = job.share === null ? "" : `, ${Math.floor(job.share * 4) * 25} percent`;
    say("status", job.cancelling ? "being cancelled" : job.state + (job.state === "running" ? part : ""));
  } catch {
    say("status", "the server does not answer");
  }
  setTimeout(look, 1000);
}

if (shown && shown.dataset.address) setTimeout(look, 500);
