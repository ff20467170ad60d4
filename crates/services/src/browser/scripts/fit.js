return { state: "fit" };
